# SPDX-License-Identifier: Apache-2.0
"""Many tokens follow softmax(logits / T): for samplers whose seeds mean something else than ours."""

import tempfile
import unittest
from pathlib import Path

import npy
from command_line import flash_sampling
from sampler import sample

LOGITS = [2.0, 1.5, 1.0, 0.5, 0.0, -0.5, -1.0, -4.0]
DRAWS = 2000


class GoodnessOfFit(unittest.TestCase):
    def judge(self, temperature):
        tokens = sample(LOGITS, temperature, 42, 0, 0, DRAWS)
        with tempfile.TemporaryDirectory() as folder:
            logits_file, tokens_file = (Path(folder) / name for name in ("logits.npy", "tokens.npy"))
            npy.write(logits_file, "<f4", (len(LOGITS),), LOGITS)
            npy.write(tokens_file, "<i8", (DRAWS,), tokens)
            return flash_sampling("gof", "--tokens", tokens_file, "--logits", logits_file, "--temperature", 1)

    def test_tokens_follow_the_softmax(self):
        code, said = self.judge(1.0)
        self.assertEqual(code, 0, said)

    def test_another_temperature_is_found(self):
        code, said = self.judge(1.5)
        self.assertEqual(code, 1, said)


if __name__ == "__main__":
    unittest.main()
