# SPDX-License-Identifier: Apache-2.0
"""Write test/vectors. Deterministic: the same bytes on every run.

    python3 generate_vectors.py            write the files
    python3 generate_vectors.py --check    write nothing; exit 1 when a file is missing or differs
    --out DIRECTORY                        another place than ../../test/vectors
"""

import argparse
import json
import pathlib
import sys

from flash_sampling_reference import SPEC_VERSION
from vector_makers import digests, dots, draws, noise, numbers, problems, requests, tensor_cores

FILES = {
    "philox.json": noise.philox,
    "words.json": noise.words,
    "gamma26.json": noise.gamma26_file,
    "noise-digest.json": noise.noise_digest,
    "rounding.json": numbers.rounding,
    "fix.json": numbers.fix_file,
    "tau.json": numbers.tau_file,
    "score.json": numbers.score_file,
    "range.json": numbers.range_file,
    "report.json": numbers.report_file,
    "dot.json": dots.dot_file,
    "int8.json": dots.int8_file,
    "sample.json": problems.sample_file,
    "refused.json": problems.refused_file,
    "logits.json": draws.logits_file,
    "without-replacement.json": draws.without_replacement_file,
    "request.json": requests.request_file,
    "digest.json": digests.digest_file,
    "tensor-core.json": tensor_cores.tensor_core_file,
}


def text(contents):
    about = contents.pop("about")
    whole = {"about": about, "spec": SPEC_VERSION, **contents}
    return json.dumps(whole, indent=0, ensure_ascii=True) + "\n"


def main():
    here = pathlib.Path(__file__).resolve().parent
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--out", type=pathlib.Path, default=here.parent.parent / "test" / "vectors")
    options = parser.parse_args()
    different = []
    for name, maker in FILES.items():
        data = text(maker()).encode("ascii")
        path = options.out / name
        if options.check:
            if not path.is_file() or path.read_bytes() != data:
                different.append(name)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            print("%7d  %s" % (len(data), name))
    for name in different:
        print("differs: " + name)
    if options.check and not different:
        print("%d files agree" % len(FILES))
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
