#!/usr/bin/env python3
"""results_test.py TOOLS: tables of the documentation from files as `bet experiment` writes them."""

import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True  # nothing is written beside the sources
sys.path.insert(0, sys.argv[1])
from results import experiments, lines  # noqa: E402

METRICS = [f"{part}_{metric}@{cutoff}" for part in ("validation", "test") for cutoff in (5, 10, 20)
           for metric in ("recall", "ndcg")]
COLUMNS = ["data", "data_hash", "backbone", "method", "variant", "budget", "precision", "seed", "params", "share",
           "bytes", "file_bytes", *METRICS, "trainings", "steps", "seconds", "device", "version", "commit"]
PAIRS = ["data", "backbone", "budget", "other_method", "metric", "difference", "p_holm"]


def row(data, backbone, method, variant, budget, seed, quality):
    values = dict.fromkeys(COLUMNS, "1") | dict.fromkeys(METRICS, str(quality))
    values |= {"data": data, "backbone": backbone, "method": method, "variant": variant, "budget": budget,
               "seed": str(seed), "device": "NVIDIA H200", "commit": "abc1234567", "precision": "fp32"}
    return ",".join(values[name] for name in COLUMNS)


class ResultsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="bet_results_")
        self.addCleanup(folder.cleanup)
        root = pathlib.Path(folder.name)
        for name in lines.FOLDER.glob("paper-*.csv"):
            (root / name.name).write_text(name.read_text())
        for experiment, rows in (
                ("table1", [row("gowalla", "lightgcn", "bet", "", "5%", 1, 0.14),
                            row("gowalla", "lightgcn", "bet", "", "5%", 2, 0.16),
                            row("gowalla", "lightgcn", "es", "", "5%", 1, 0.11),
                            row("gowalla", "lightgcn", "pep", "", "5%", 1, 0.12),
                            row("gowalla", "ngcf", "mr", "", "5%", 1, 0.1),
                            row("gowalla", "ncf", "esapn", "", "", 1, 0.12),
                            row("yelp2018", "ncf", "es", "", "5%", 1, 0.03)]),
                ("table2", [row("yelp2018", "lightgcn", "bet-paper", "simple", "10%", 1, 0.07)])):
            (root / "h200" / experiment).mkdir(parents=True)
            (root / "h200" / experiment / "results.csv").write_text("\n".join([",".join(COLUMNS), *rows]) + "\n")
        (root / "h200/table1/pairs.csv").write_text(
            ",".join(PAIRS) + "\ngowalla,lightgcn,5%,es,recall@20,0.04,0.5\n"
            "gowalla,lightgcn,5%,pep,recall@20,0.03,0.0312\n")
        self.addCleanup(setattr, lines, "FOLDER", lines.FOLDER)
        lines.FOLDER = root

    def test_table1_has_means_over_seeds_beside_the_paper_and_p_of_the_best_other_method(self):
        text = experiments.table1("gowalla")
        found = [line for line in text.splitlines() if line.startswith("| `bet` | 5 %")]
        self.assertEqual(found[0].split(" | ")[2:4], ["0.1500 ± 6.7 %", "0.1374"])
        esapn = [line for line in text.splitlines() if line.startswith("| `esapn`")][0].split(" | ")
        self.assertEqual(esapn[10:12], ["0.1200 (one seed)", "0.1280"])
        p = [line for line in text.splitlines() if line.startswith("| p,") and " 5 % " in line][0]
        self.assertEqual(p.split(" | ")[2], "0.0312")
        self.assertIn("(0.0998)", text)
        self.assertIn("| method | parameters | NCF R@20 |", experiments.table1("yelp2018"))
        self.assertIn("Device: NVIDIA H200. Commit: abc1234567.", text)

    def test_table2_is_by_selection(self):
        line = [line for line in experiments.table2().splitlines() if line.startswith("| `simple` | 10 %")][0]
        self.assertEqual(line.split(" | ")[2:10],
                         ["not run", "0.1590", "not run", "0.1355", "0.0700 (one seed)", "0.0768",
                          "0.0700 (one seed)", "0.0717 |"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
