#!/usr/bin/python3
"""Parses Prometheus's text format with Prometheus's own Python library, and prints a line of JSON for each metric with its
name, type, help and samples. Fails if the text isn't in the format."""

import json
import sys

from prometheus_client.parser import text_string_to_metric_families

for family in text_string_to_metric_families(sys.stdin.read()):
    samples = [{"name": s.name, "labels": s.labels, "value": repr(s.value)} for s in family.samples]
    print(json.dumps({"name": family.name, "type": family.type, "help": family.documentation, "samples": samples}))
