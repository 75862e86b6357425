#!/usr/bin/env python3
"""same_lists.py REFERENCE OTHER..: whether what `bet_same_lists print` and same_lists.mjs printed is the same: all
files, all lists, the same items in the same order, with scores within rounding. Items whose scores are as close as
rounding is may change places; items of equal scores in both are in the same order. Prints what it compared."""
import json
import sys

ROUNDING = 2e-6  # of the largest score of a list, or of 1


def tolerance(scored):
    return ROUNDING * max([1.0] + [abs(score) for _, score in scored])


def difference(here, there):
    """What is wrong with two lists of [item, score], or None; and how many items changed places."""
    if len(here) != len(there):
        return f"{len(here)} and {len(there)} items", 0
    allowed = tolerance(here)
    scores, moved = dict(map(tuple, here)), 0
    for (item, score), (other_item, other_score) in zip(here, there):
        if abs(score - other_score) > allowed:
            return f"{item} has {score}, in the other {other_item} has {other_score}", moved
        if item == other_item:
            continue
        moved += 1
        # At the end of a list the item may be one that the other list just has no more.
        if abs(scores.get(other_item, here[-1][1]) - other_score) > allowed:
            return f"{other_item} is in the place of {item}", moved
    there_at = {item: place for place, (item, _) in enumerate(there)}
    for (item, score), (next_item, next_score) in zip(here, here[1:]):
        if score != next_score or item not in there_at or next_item not in there_at:
            continue
        place, next_place = there_at[item], there_at[next_item]
        if there[place][1] == there[next_place][1] and place > next_place:
            return f"{item} and {next_item} have the score {score}, and in the other they change places", moved
    return None, moved


def main():
    with open(sys.argv[1]) as file:
        reference = json.load(file)
    lists = sum(len(of) for of in reference.values())
    scored = sum(len(items) for of in reference.values() for items in of.values())
    assert len(reference) >= 150 and scored > 20_000, (len(reference), scored)
    wrong = []
    for path in sys.argv[2:]:
        with open(path) as file:
            other = json.load(file)
        if {name: sorted(of) for name, of in other.items()} != {name: sorted(of) for name, of in reference.items()}:
            wrong.append(f"{path}: other files or calls")
            continue
        places = 0
        for name, of in reference.items():
            for call, items in of.items():
                text, moved = difference(items, other[name][call])
                places += moved
                # Only below four bits are there so few values that different sums are equal but for rounding.
                if moved and not any(low in name for low in ("-int3", "-int2", "-int1", "-ternary")):
                    text = text or f"{moved} items have changed places"
                if text:
                    wrong.append(f"{path}: {name}, {call}: {text}")
        print(f"{path}: {places} of {scored} items have changed places within rounding")
    if wrong:
        sys.exit("\n".join(wrong[:20]))
    print(f"same lists: {len(reference)} files, {lists} lists, {len(sys.argv) - 1} machines")


if __name__ == "__main__":
    main()
