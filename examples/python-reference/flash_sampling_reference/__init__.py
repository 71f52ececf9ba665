# SPDX-License-Identifier: Apache-2.0
"""The sampling rule of docs/spec.md, version 1.0, in plain Python. Slow on purpose: one clause, one function."""

SPEC_VERSION = "1.0"
