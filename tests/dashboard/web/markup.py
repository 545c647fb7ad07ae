"""Reading a page as a browser's parser does, to ask what its elements are rather than what its text looks like."""

import re

from django.http import HttpResponse

_BLOCK = r"(?:d[dt]|h[1-6]|li|p|t[dh])\b"


def flat(answer: HttpResponse) -> str:
    """The source of a page as it is shown: white space is one blank, and none where a block begins or ends, or a tag.

    Of what is preformatted it says less than the page.
    """
    text = re.sub(r"\s+", " ", answer.content.decode()).replace(" >", ">")
    return re.sub(rf"(<{_BLOCK}[^>]*>) | (?=</{_BLOCK}>)", r"\1", text)
