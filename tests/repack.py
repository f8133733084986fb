"""Pages as another build of zlib would pack them: the same content, in other bytes."""

import base64
import gzip
import re

from autodiff_edu.player.unpacking import decompress


def repack(page, before="", after=""):
    """Pack the data and the script of each player in a page again, with one text in them replaced by another."""

    def again(found):
        text = decompress(found[0])
        replaced.append(before in text)
        packed = gzip.compress((text.replace(before, after) if before else text).encode(), 1, mtime=0)
        return base64.b64encode(packed).decode()

    replaced = []
    changed = re.sub(r"H4sI[A-Za-z0-9+/=]+", again, page)
    assert any(replaced), f"{before!r} is in no player"
    assert changed != page
    return changed
