# SPDX-License-Identifier: Apache-2.0
"""Runs flash-sampling: what FLASH_SAMPLING_CLI says, or npx."""

import os
import shlex
import subprocess

COMMAND = shlex.split(os.environ.get("FLASH_SAMPLING_CLI", "npx flash-sampling"))


def flash_sampling(*args):
    """Exit code (0 right, 1 wrong, 2 misuse) and all that was printed."""
    ended = subprocess.run([*COMMAND, *map(str, args)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return ended.returncode, ended.stdout
