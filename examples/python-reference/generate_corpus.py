# SPDX-License-Identifier: Apache-2.0
"""Write the edge corpus (docs/corpus.md). Deterministic: the same bytes on every run.

    python3 generate_corpus.py            write the file
    python3 generate_corpus.py --check    write nothing; exit 1 when the file is missing or differs
    --out FILE                            another place than ../../src/verify/corpus/cases.json
"""

import argparse
import json
import pathlib
import sys

from corpus_makers import heads, noise, numbers, requests
from corpus_makers.case import Corpus
from flash_sampling_reference import SPEC_VERSION

CORPUS_VERSION = "1.0"
ABOUT = "Inputs that break samplers, and what may come out of them: docs/corpus.md. Made by examples/python-reference/generate_corpus.py."


def lines(items):
    return ",\n".join(items)


def text():
    corpus = Corpus()
    for makers in (numbers, requests, heads, noise):
        makers.add_all(corpus)
    names = [case["name"] for case in corpus.cases]
    assert len(names) == len(set(names))
    known = {outcome["sameAs"]["case"] for case in corpus.cases for outcome in case["outcomes"] if "sameAs" in outcome}
    assert known <= set(names)
    dump = lambda value: json.dumps(value, separators=(",", ":"), allow_nan=False)
    head = dump({"about": ABOUT, "corpusVersion": CORPUS_VERSION, "specVersion": SPEC_VERSION})[:-1]
    arrays = lines(dump(name) + ":" + dump(array) for name, array in corpus.arrays.items())
    return "%s,\n\"arrays\":{\n%s\n},\n\"cases\":[\n%s\n]}\n" % (head, arrays, lines(dump(case) for case in corpus.cases))


def main():
    here = pathlib.Path(__file__).resolve().parent
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--out", type=pathlib.Path, default=here.parent.parent / "src" / "verify" / "corpus" / "cases.json")
    options = parser.parse_args()
    data = text().encode("ascii")
    if options.check:
        if options.out.is_file() and options.out.read_bytes() == data:
            print("%s agrees" % options.out.name)
            return 0
        print("differs: " + options.out.name)
        return 1
    options.out.write_bytes(data)
    print("%d bytes  %s" % (len(data), options.out.name))
    return 0


if __name__ == "__main__":
    sys.exit(main())
