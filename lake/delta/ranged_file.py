"""A file for parquet readers over an object of which only a few pieces are fetched."""

import io
from collections.abc import Callable


class PieceMissingError(Exception):
    """A piece of the file cannot be had: its own offsets contradict its size, or a limit is reached."""


class RangedFile(io.RawIOBase):
    """A seekable, read-only file of `size` bytes over ranged reads of an object.

    Bytes that are not here yet are fetched at least `read_ahead` at a time, because neighbouring columns of parquet are
    wanted together; `most_bytes` bounds what a corrupt file can make a reader fetch. `store_error` is what reading the
    object raised, if anything: a parquet reader may have wrapped it.
    """

    def __init__(self, read_range: Callable[[int, int], bytes], size: int, read_ahead: int, most_bytes: int) -> None:
        super().__init__()
        self.size = size
        self.store_error: Exception | None = None
        self._read_range = read_range
        self._read_ahead = read_ahead
        self._bytes_left = most_bytes
        self._position = 0
        self._pieces: list[tuple[int, bytes]] = []

    def fetch(self, first: int, last: int) -> bytes:
        """The bytes of an inclusive range, from what is here or with one request.

        Raises PieceMissingError where the range lies outside the file, the object gives fewer bytes or the limit is
        reached, and whatever reading the object raises.
        """
        if not 0 <= first <= last < self.size:
            raise PieceMissingError(f"bytes {first} to {last} lie outside the file's {self.size}")
        here = self._held(first, last - first + 1)
        if here is not None:
            return here
        piece = self._requested(first, last)
        self._pieces.append((first, piece))
        return piece

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self.size}[whence]
        self._position = max(0, base + offset)
        return self._position

    def read(self, size: int = -1) -> bytes:
        first = self._position
        left = max(0, self.size - first)
        wanted = left if size < 0 else min(size, left)
        if wanted == 0:
            return b""
        data = self._held(first, wanted)
        if data is None:
            data = self.fetch(first, min(self.size, first + max(wanted, self._read_ahead)) - 1)[:wanted]
        self._position = first + wanted
        return data

    def _requested(self, first: int, last: int) -> bytes:
        wanted = last - first + 1
        if wanted > self._bytes_left:
            raise PieceMissingError(f"it asks for {wanted} bytes at {first}, more than a checkpoint's state can need")
        self._bytes_left -= wanted
        try:
            piece = self._read_range(first, last)
        except Exception as error:
            self.store_error = error
            raise
        if len(piece) != wanted:
            raise PieceMissingError(f"bytes {first} to {last} came back as {len(piece)} bytes; the object has changed")
        return piece

    def _held(self, first: int, length: int) -> bytes | None:
        for start, piece in self._pieces:
            if start <= first and first + length <= start + len(piece):
                return piece[first - start : first - start + length]
        return None
