"""Reads the committed result files (docs/results) and adds to every run where it comes from."""
import csv
import dataclasses
import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "results"

# Two misprints in the paper's Table 1: (data, backbone, method, budget, metric) -> what is meant.
MISPRINTS = {("gowalla", "ngcf", "bet", "5%", "ndcg@20"): ("0.9980", "(0.0998)"),
             ("yelp2018", "lightgcn", "ciess", "5%", "recall@20"): ("0.6570", "(0.0657)")}


@dataclasses.dataclass
class Run:
    """One line of a result file. `fields` is the line itself; `report` is empty if it holds none."""
    file: str
    fields: dict
    report: dict
    options: list
    data: str
    backbone: str
    method: str
    budget: str  # as requested; empty if none
    seed: int
    device: str
    commit: str = ""
    date: str = ""

    def recall(self, part="test"):
        return self.report[part]["recall@20"]

    def ndcg(self, part="test"):
        return self.report[part]["ndcg@20"]


def read(name):
    """The runs of a .jsonl or .json file below docs/results."""
    path = FOLDER / name
    text = path.read_text()
    lines = [json.loads(text)] if path.suffix == ".json" else list(map(json.loads, text.splitlines()))
    source = json.loads((FOLDER / "sources.json").read_text())[name]
    return [_run(name, line, source) for line in lines]


def text_file(name):
    """The text of a result file and a Run that says where it comes from."""
    source = json.loads((FOLDER / "sources.json").read_text())[name]
    return (FOLDER / name).read_text(), _run(name, {}, source)


def _run(name, fields, source):
    report = fields.get("report") or (fields if "dataset" in fields else {})
    command = fields.get("command", [])
    options = command if isinstance(command, list) else command.split()
    run = Run(file=name, fields=fields, report=report, options=options,
              data=report["dataset"]["name"] if report else fields.get("data", ""),
              backbone=report.get("backbone", fields.get("backbone", "")),
              method=report.get("method", fields.get("method", "")),
              budget=(report.get("budget") or {}).get("requested", ""),
              seed=report.get("seed", fields.get("seed", 1)),
              device=source.get("device") or report.get("device") or fields.get("gpu", ""))
    if run.device == "cpu":
        run.device = f"{report['threads']} CPU cores"
    # A line that says its own commit needs no rule.
    rule = fields if "commit" in fields else next(r for r in source["runs"] if _matches(run, r))
    run.commit, run.date = rule["commit"], rule.get("date", "")
    return run


def _matches(run, rule):
    for key, wanted in rule.get("where", {}).items():
        if key == "option":
            if wanted not in run.options:
                return False
            continue
        value = run.fields[key] if key == "variant" else getattr(run, key)
        if value not in (wanted if isinstance(wanted, list) else [wanted]):
            return False
    return True


def select(runs, **wanted):
    return [run for run in runs if all(getattr(run, key) == value for key, value in wanted.items())]


def one(runs, **wanted):
    """The only run with these fields, or None."""
    found = select(runs, **wanted)
    if len(found) > 1:
        raise ValueError(f"{len(found)} runs with {wanted}, first in {found[0].file}")
    return found[0] if found else None


class Paper:
    """The paper's Table 1, which gives the share that is removed: 95% is a budget of 5%."""

    def __init__(self):
        with (FOLDER / "paper-table1.csv").open() as file:
            rows = list(csv.DictReader(file))
        self._rows = {}
        for row in rows:
            budget = f"{100 - int(row['sparsity'].rstrip('%'))}%"
            self._rows[row["dataset"], row["backbone"], row["method"], budget] = row
            # The methods without a budget have one row each, found without its size.
            if row["method"] in ("esapn", "optembed"):
                self._rows[row["dataset"], row["backbone"], row["method"], ""] = row | {"share": budget}

    def value(self, data, backbone, method, budget, metric="recall@20"):
        row = self._rows.get((data, backbone, method, budget))
        if row is None:
            return ""
        printed, meant = MISPRINTS.get((data, backbone, method, budget, metric), (None, None))
        if printed is not None:
            if row[metric] != printed:
                raise ValueError(f"the paper's table has {row[metric]} where {printed} was expected")
            return meant
        return row[metric]

    def share(self, data, backbone, method):
        return self._rows[data, backbone, method, ""]["share"]
