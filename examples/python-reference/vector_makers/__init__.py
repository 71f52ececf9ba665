# SPDX-License-Identifier: Apache-2.0
"""Makers of the known answers: each function returns the contents of one file."""
