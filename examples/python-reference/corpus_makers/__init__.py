# SPDX-License-Identifier: Apache-2.0
"""Makers of the edge corpus: inputs that break samplers, and what may come out (docs/corpus.md)."""
