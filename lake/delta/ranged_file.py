"""A file for parquet readers over the few pieces of an object that were fetched."""

import io
from collections.abc import Callable


class PieceMissingError(Exception):
    """A reader asked for bytes that were not fetched: the file's own offsets contradict each other."""


class RangedFile(io.RawIOBase):
    """A seekable, read-only file of `size` bytes. Only `fetch` reads from the object; the rest serves what it brought.

    That keeps the number of requests in the hands of the caller, whatever a corrupt file makes a parquet reader do.
    """

    def __init__(self, read_range: Callable[[int, int], bytes], size: int) -> None:
        super().__init__()
        self.size = size
        self._read_range = read_range
        self._position = 0
        self._pieces: list[tuple[int, bytes]] = []

    def fetch(self, first: int, last: int) -> bytes:
        """Bring the bytes of an inclusive range, from what is here or with one request.

        Raises PieceMissingError where the range lies outside the file or the object gives fewer bytes.
        """
        if not 0 <= first <= last < self.size:
            raise PieceMissingError(f"bytes {first} to {last} lie outside the file's {self.size}")
        here = self._held(first, last - first + 1)
        if here is not None:
            return here
        piece = self._read_range(first, last)
        if len(piece) != last - first + 1:
            raise PieceMissingError(f"bytes {first} to {last} came back as {len(piece)} bytes; the object has changed")
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
        left = max(0, self.size - self._position)
        wanted = left if size < 0 else min(size, left)
        data = self._held(self._position, wanted)
        if data is None:
            raise PieceMissingError(f"{wanted} bytes at {self._position} are not where the footer says columns are")
        self._position += wanted
        return data

    def _held(self, first: int, length: int) -> bytes | None:
        for start, piece in self._pieces:
            if start <= first and first + length <= start + len(piece):
                return piece[first - start : first - start + length]
        return None
