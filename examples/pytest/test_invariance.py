# SPDX-License-Identifier: Apache-2.0
"""Batches, padding, NaN beside it: nothing that must not matter changes a token."""

import sys
import unittest
from pathlib import Path

from command_line import flash_sampling

SAMPLER = Path(__file__).resolve().parent / "sampler.py"


class Invariance(unittest.TestCase):
    def test_all_are_kept(self):
        code, said = flash_sampling("invariance", "--server", "--also", "logit-shift,losers-masked", "--", sys.executable, SAMPLER, "--serve")
        self.assertEqual(code, 0, said)


if __name__ == "__main__":
    unittest.main()
