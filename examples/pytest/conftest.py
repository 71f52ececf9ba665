# SPDX-License-Identifier: Apache-2.0
"""pytest says which flash-sampling judges, and stops at once where there is none."""

import pytest
from command_line import COMMAND, flash_sampling


def pytest_report_header():
    try:
        code, said = flash_sampling("--version")
    except FileNotFoundError:
        code, said = 1, "there is no such program"
    if code != 0:
        pytest.exit(f"{' '.join(COMMAND)}: {said.strip()} (FLASH_SAMPLING_CLI names another)", returncode=2)
    return f"flash-sampling {said.strip()}"
