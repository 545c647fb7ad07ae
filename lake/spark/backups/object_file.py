"""An object of S3 as a file that is read in pieces and never held whole."""

import io

from lake.aws.s3 import S3


class ObjectFile(io.RawIOBase):
    """Seekable and read-only; each read is one ranged GET, so put a buffer before it. Raises AwsError.

    `size` in bytes is asked for where it is None.
    """

    def __init__(self, s3: S3, bucket: str, key: str, size: int | None) -> None:
        super().__init__()
        self._s3, self._bucket, self._key = s3, bucket, key
        self._size = s3.get(bucket, key, first=-1).size if size is None else size
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence]
        self._position = max(0, base + offset)
        return self._position

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        last = min(self._size, self._position + len(buffer)) - 1
        if last < self._position:
            return 0
        data = self._s3.get(self._bucket, self._key, first=self._position, last=last).data
        buffer[: len(data)] = data
        self._position += len(data)
        return len(data)
