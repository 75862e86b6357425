#!/usr/bin/env bash
# pip_test.sh PYTHON: `pip install` makes the package of a build (BET_BUILD), with LibTorch and without, and both work
# where they are installed.
set -euo pipefail
python=$1
fail() { echo "pip: $*" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# pip writes into the folder that it builds.
mkdir "$work/source"
tar -C "$BET_SOURCE" -c --exclude '*.egg-info' CMakeLists.txt pyproject.toml setup.py python docs/python.md |
  tar -C "$work/source" -x
install() {
  "$python" -m pip -q install --no-build-isolation --no-deps --no-index --no-warn-script-location \
    --target "$work/$1" "$work/source" 2>&1 | grep -v WARNING || true
}
unset PYTHONPATH
install whole
BET_RUNTIME_ONLY=1 install runtime
"$BET_BUILD/bet_make_test_model" "$work/model.bet"
cd "$work"  # not the source, which has a folder `bet` too
for place in whole runtime; do
  PYTHONPATH=$work/$place "$python" -c "
import bet
assert bet.__file__.startswith('$work/$place'), bet.__file__
assert bet.Model.open('model.bet').recommend('ann', 2)[0].tolist() == ['i4', 'i3']" || fail "$place does not work"
  [ -f "$work/$place/bet/py.typed" ] || fail "$place has no py.typed"
done
PYTHONPATH=$work/whole "$python" -c "
import bet
assert bet.fit('demo', method='es', budget='5%', backbone='mf', max_steps=2, progress=False).model.num_users > 0" ||
  fail "bet.fit does not work"
[ -f "$work/whole/bet/_fit.pyi" ] || fail "no stub of bet.fit"
[ -z "$(ls "$work"/runtime/bet/_train*.so 2>/dev/null)" ] || fail "the runtime alone has the trainer"
PYTHONPATH=$work/runtime "$python" -c "
import bet
try:
    bet.fit
except ImportError as error:
    assert 'bet._train' in str(error)
else:
    raise SystemExit('bet.fit without the trainer')" || fail "what is missing is not said"
echo "pip: good"
