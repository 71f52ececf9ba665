# SPDX-License-Identifier: Apache-2.0
"""Every token is the one that seed, sequence and position give: an exact check, without statistics."""

import random
import tempfile
import unittest
from pathlib import Path

import npy
from command_line import flash_sampling
from sampler import sample

ROWS, VOCABULARY, SEED = 8, 500, 42


class Check(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.logits_file, self.tokens_file = (Path(folder.name) / name for name in ("logits.npy", "tokens.npy"))
        made_up = random.Random(1)
        logits = [[made_up.gauss(0, 3) for _ in range(VOCABULARY)] for _ in range(ROWS)]
        npy.write(self.logits_file, "<f4", (ROWS, VOCABULARY), sum(logits, []))
        self.tokens = [sample(row, 1.0, SEED, sequence, 0)[0] for sequence, row in enumerate(logits)]

    def check(self, tokens):
        npy.write(self.tokens_file, "<i8", (ROWS,), tokens)
        return flash_sampling("check", "--tokens", self.tokens_file, "--logits", self.logits_file, "--seed", SEED)

    def test_tokens_are_exact(self):
        code, said = self.check(self.tokens)
        self.assertEqual(code, 0, said)

    def test_one_wrong_token_is_found(self):
        self.tokens[3] = (self.tokens[3] + 1) % VOCABULARY
        code, said = self.check(self.tokens)
        self.assertEqual(code, 1, said)


if __name__ == "__main__":
    unittest.main()
