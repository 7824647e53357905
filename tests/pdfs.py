"""PDFs written by hand: pages of lines, for the tests of what reads them."""

import io
from collections.abc import Sequence


def pdf(*pages: Sequence[str], title: str = "") -> bytes:
    """Return a PDF with these lines on its pages."""
    kids = " ".join(f"{4 + 2 * i} 0 R" for i in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    for number, lines in enumerate(pages):
        told = "\n".join(f"({_escaped(line)}) Tj T*" for line in lines)
        stream = f"BT /F1 11 Tf 14 TL 50 800 Td\n{told}\nET"
        resources = "/Resources << /Font << /F1 3 0 R >> >>"
        objects += [
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] {resources} /Contents {5 + 2 * number} 0 R >>",
            f"<< /Length {len(stream.encode('cp1252'))} >>\nstream\n{stream}\nendstream",
        ]
    objects.append(f"<< /Title ({_escaped(title)}) >>")
    return _file(objects)


def encrypted(data: bytes, password: str) -> bytes:
    """Return the PDF with a password on it."""
    from pypdf import PdfReader, PdfWriter

    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(data)))
    writer.encrypt(user_password=password, owner_password="owner", algorithm="RC4-128")
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")


def _file(objects: Sequence[str]) -> bytes:
    out, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n".encode("cp1252")
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    start = len(out)
    size = len(objects) + 1
    tail = f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer << /Size {size} /Root 1 0 R /Info {size - 1} 0 R >>\n"
    return out + f"{tail}startxref\n{start}\n%%EOF\n".encode()
