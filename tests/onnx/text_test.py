#!/usr/bin/python3
"""Operators on strings: RE2's patterns, also ones that backtracking would never finish, and case in scripts of all kinds.

usage: text_test.py INGOT
"""
import sys

import numpy as np
from onnx import helper

from cases import Cases

cases = Cases()


def text(*values):
    return np.array(values, dtype=object)


def match(name, pattern, words, expected):
    node = helper.make_node("RegexFullMatch", ["x"], ["y"], pattern=pattern)
    cases.add(name, node, dict(x=text(*words)), dict(y=np.array(expected)), 20)


match("classes", r"(\w|\.)+@\pL+\.(?:com|org)", ["a.b@host.org", "a@b", "a@hö.com", ""], [True, False, True, False])
match("long_text", "(a|b)*", ["ab" * 200_000, "ab" * 200_000 + "c"], [True, False])
match("no_backtracking", "(a*)*b", ["a" * 5_000, "a" * 5_000 + "b"], [False, True])


def case(name, change, words, expected, **attributes):
    node = helper.make_node("StringNormalizer", ["x"], ["y"], case_change_action=change, **attributes)
    cases.add(name, node, dict(x=text(*words)), dict(y=text(*expected)), 10)


case("lower", "LOWER", ["ÀÉÑ", "ŹŻ", "ΣΩ", "ЖЁ", "Ա", "𐐀"], ["àéñ", "źż", "σω", "жё", "ա", "𐐨"])
case("upper", "UPPER", ["àéñ", "źż", "ω", "жё", "ա", "𐐨"], ["ÀÉÑ", "ŹŻ", "Ω", "ЖЁ", "Ա", "𐐀"])
case("stopwords", "NONE", ["Źle", "dobrze"], ["dobrze"], is_case_sensitive=0, stopwords=["źLE"])
sys.exit(cases.run())
