#!/usr/bin/python3
"""The page of `ingot inspect --memory-html` in headless Chromium: every place is drawn where the plan has it and gives its
name on hover, and nothing is fetched from elsewhere.

    memory_page_in_browser.py INGOT

Ends with 77 where there is no Chromium.
"""
import html
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
# Hovers over every rectangle, and leaves what a reader would see where --dump-dom shows it.
PROBE = """<script>
const seen = {errors: 0, places: []};
addEventListener("error", () => ++seen.errors);
for (const place of document.querySelectorAll("rect.place")) {
  const box = place.getBoundingClientRect(), picture = place.ownerSVGElement.getBoundingClientRect();
  place.dispatchEvent(new MouseEvent("mousemove", {clientX: box.x + box.width / 2, clientY: box.y + box.height / 2}));
  const shown = getComputedStyle(tip).display;
  seen.places.push({about: tip.textContent, shown, box: [box.left, box.top, box.right, box.bottom],
                    inside: box.left >= picture.left - 1 && box.right <= picture.right + 1 && box.top >= picture.top - 1 &&
                            box.bottom <= picture.bottom + 1, area: box.width * box.height});
  place.dispatchEvent(new MouseEvent("mouseleave"));
  if (getComputedStyle(tip).display !== "none") ++seen.errors;
}
seen.fetched = performance.getEntriesByType("resource").length;
const note = document.createElement("pre");
note.id = "seen";
note.textContent = JSON.stringify(seen);
document.body.append(note);
</script></body>"""


def overlap(a, b):
    """Of two boxes, by more than the rounding of their edges."""
    return min(a[2], b[2]) - max(a[0], b[0]) > 0.5 and min(a[3], b[3]) - max(a[1], b[1]) > 0.5


def main():
    ingot = pathlib.Path(sys.argv[1]).resolve()
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        print("SKIPPED: memory_page_in_browser: there is no chromium")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        model, page = work / "model.ingot", work / "page.html"
        subprocess.run([ingot, "compile", "tests/models/squeezenet_small.onnx", "-o", model], check=True)
        told = subprocess.run([ingot, "inspect", model, "--json", "--memory-html", page], check=True, capture_output=True, text=True)
        places = json.loads(told.stdout)["functions"][0]["memory"]["places"]
        text = page.read_text()
        assert text.count("</body>") == 1
        page.write_text(text.replace("</body>", PROBE))
        dom = subprocess.run([chromium, "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1400,900", f"--user-data-dir={work}/profile",
                              "--virtual-time-budget=5000", "--dump-dom", page.as_uri()], check=True, capture_output=True, text=True, timeout=120).stdout
    note = re.search(r'<pre id="seen">(.*?)</pre>', dom, re.DOTALL)
    assert note, f"the probe did not run:\n{dom[-2000:]}"
    seen = json.loads(html.unescape(note.group(1)))
    assert seen["errors"] == 0, "a script failed, or the name stayed after the hover"
    assert seen["fetched"] == 0, f"{seen['fetched']} things were fetched from elsewhere"
    assert len(seen["places"]) == len(places) > 10, (len(seen["places"]), len(places))
    for drawn, place in zip(seen["places"], places):
        lines = drawn["about"].split("\n")
        assert drawn["shown"] == "block" and lines[0] == place["name"], (drawn, place)
        assert "shape" not in place or lines[1] == f"{place['dtype']} {place['shape']}", (drawn, place)
        assert drawn["inside"] and (drawn["area"] > 0 or place["bytes"] == 0), (drawn, place)
    in_place = {(a["offset"], a["first"]) for a in places} & {(b["offset"], b["last"]) for b in places}
    for i, (a, one) in enumerate(zip(seen["places"], places)):
        for b, other in zip(seen["places"][:i], places):
            passed_on = {(one["offset"], one["first"]), (other["offset"], other["first"])} & in_place
            assert passed_on or not overlap(a["box"], b["box"]), (one, other)
    print(f"{len(places)} places drawn and named")
    return 0


if __name__ == "__main__":
    sys.exit(main())
