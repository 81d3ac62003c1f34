"""Compiles the hot modules with mypyc; pyproject.toml says everything else.

ZENLAKE_COMPILE=auto (the default) compiles if C compiler and Python headers are found,
0 never does, 1 fails if it cannot. The plain sources are installed either way.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from glob import glob
from pathlib import Path

from setuptools import Distribution, Extension, setup
from setuptools.command.build_ext import build_ext

HOT_MODULES = (
    "src/zenlake/api/arguments/known_keys.py",
    "src/zenlake/api/handlers/callback_pool.py",
    "src/zenlake/api/handlers/callbacks.py",
    "src/zenlake/api/handlers/channels.py",
    "src/zenlake/api/handlers/handler.py",
    "src/zenlake/api/handlers/item_bytes.py",
    "src/zenlake/api/publication/plain_put.py",
    "src/zenlake/api/publication/sample.py",
    "src/zenlake/api/query/get.py",
    "src/zenlake/api/query/query.py",
    "src/zenlake/api/query/reply.py",
    "src/zenlake/api/values/zbytes.py",
    "src/zenlake/capture/byte_ranges.py",
    "src/zenlake/capture/ip.py",
    "src/zenlake/capture/link_layer.py",
    "src/zenlake/capture/packet.py",
    "src/zenlake/capture/pcap.py",
    "src/zenlake/capture/pcapng.py",
    "src/zenlake/capture/segment_format.py",
    "src/zenlake/capture/segment_reader.py",
    "src/zenlake/capture/stream_events.py",
    "src/zenlake/capture/tcp_*.py",
    "src/zenlake/capture/transport.py",
    "src/zenlake/cli/decode/detail.py",
    "src/zenlake/cli/decode/line.py",
    "src/zenlake/cli/decode/text.py",
    "src/zenlake/cli/output.py",
    "src/zenlake/keyexpr/canonical.py",
    "src/zenlake/keyexpr/expr_automaton.py",
    "src/zenlake/keyexpr/matching.py",
    "src/zenlake/keyexpr/pattern_index.py",
    "src/zenlake/keyexpr/prefix.py",
    "src/zenlake/keyexpr/search.py",
    "src/zenlake/keyexpr/texts.py",
    "src/zenlake/keyexpr/tree.py",
    "src/zenlake/keyexpr/tree_node.py",
    "src/zenlake/links/shared_socket.py",
    "src/zenlake/node/abstract_sender.py",
    "src/zenlake/node/before_waiting.py",
    "src/zenlake/node/idle_links.py",
    "src/zenlake/node/link_outlet.py",
    "src/zenlake/node/link_reader.py",
    "src/zenlake/node/link_runner.py",
    "src/zenlake/node/node_activity.py",
    "src/zenlake/node/node_lock.py",
    "src/zenlake/node/receive_queue.py",
    "src/zenlake/node/send_budget.py",
    "src/zenlake/node/send_queue.py",
    "src/zenlake/node/sender.py",
    "src/zenlake/node/yield_gil.py",
    "src/zenlake/protocol/*.py",
    "src/zenlake/recording/batch_queue.py",
    "src/zenlake/recording/link_packets.py",
    "src/zenlake/recording/packet_headers.py",
    "src/zenlake/recording/segment_output.py",
    "src/zenlake/recording/segment_writer.py",
    "src/zenlake/recording/state_tracker.py",
    "src/zenlake/recording/tracked_*.py",
    "src/zenlake/routing/*.py",
    "src/zenlake/routing/*/*.py",
    "src/zenlake/rules/batch_deviations.py",
    "src/zenlake/rules/batches.py",
    "src/zenlake/rules/channels.py",
    "src/zenlake/rules/checker.py",
    "src/zenlake/rules/declarations.py",
    "src/zenlake/rules/facts.py",
    "src/zenlake/rules/finding.py",
    "src/zenlake/rules/fragments.py",
    "src/zenlake/rules/handshake.py",
    "src/zenlake/rules/interests.py",
    "src/zenlake/rules/keys.py",
    "src/zenlake/rules/link_states.py",
    "src/zenlake/rules/liveness.py",
    "src/zenlake/rules/fact_updates.py",
    "src/zenlake/rules/multicast.py",
    "src/zenlake/rules/queries.py",
    "src/zenlake/rules/rare.py",
    "src/zenlake/rules/rule.py",
    "src/zenlake/rules/samples.py",
    "src/zenlake/rules/scouting.py",
    "src/zenlake/semantics/consolidation.py",
    "src/zenlake/semantics/query_parameters.py",
    "src/zenlake/session/*.py",
    "src/zenlake/trace/channel.py",
    "src/zenlake/trace/events.py",
    "src/zenlake/trace/json_values.py",
    "src/zenlake/trace/keys.py",
    "src/zenlake/trace/link.py",
    "src/zenlake/trace/links/*.py",
    "src/zenlake/trace/message_attributes.py",
    "src/zenlake/trace/rows/*.py",
    "src/zenlake/trace/rows/_generated/*.py",
    "src/zenlake/trace/session*.py",
    "src/zenlake/trace/timelines/request_traces.py",
    "src/zenlake/trace/timelines/interests.py",
    "src/zenlake/trace/timelines/open_items.py",
    "src/zenlake/trace/trace.py",
    "src/zenlake/trace/walker.py",
    "src/zenlake/wire/_generated/*.py",
    "src/zenlake/wire/batch.py",
    "src/zenlake/wire/framing.py",
    "src/zenlake/wire/kinds.py",
    "src/zenlake/wire/message.py",
    "src/zenlake/wire/primitives.py",
    "src/zenlake/wire/push_run.py",
    "src/zenlake/wire/runs.py",
    "src/zenlake/wire/sequence.py",
    "src/zenlake/wire/values/*.py",
)
NODE_FOLDERS = ("api", "links", "node", "protocol", "routing", "session")


def hot_modules() -> list[str]:
    found = (path for pattern in HOT_MODULES for path in sorted(glob(pattern)))
    return [path for path in found if Path(path).name != "__init__.py"]


def can_compile() -> bool:
    """Whether a trivial extension module builds here."""
    if sys.implementation.name != "cpython":
        return False
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "probe.c")
        source.write_text("#include <Python.h>\nPyObject *PyInit_probe(void) { return NULL; }\n")
        command = build_ext(Distribution({"ext_modules": [Extension("probe", [str(source)])]}))
        command.build_lib = command.build_temp = folder
        try:
            command.ensure_finalized()
            command.run()
        except (Exception, SystemExit):
            return False
    return True


def extensions() -> list[Extension]:
    from mypyc.build import mypycify

    files = hot_modules()
    # Two groups are compiled at the same time; calls within a group cost least.
    node = [path for path in files if Path(path).parts[2] in NODE_FOLDERS]
    rest = [path for path in files if path not in node]
    groups = [(rest, "zenlake"), (node, "zenlake_node")]
    made = mypycify(files, opt_level="3", debug_level="0", separate=groups)
    if sys.platform != "win32":
        for extension in made:
            # Python's own flags ask for warnings; the search for them in code that nobody wrote
            # takes half of the time.
            extension.extra_compile_args = [*extension.extra_compile_args, "-Wno-all"]
    for source in {source for extension in made for source in extension.sources}:
        path = Path(source)
        path.write_text(without_trashcans(path.read_text("utf-8")), "utf-8")
    # They are compiled in this order: the two groups first, then the stubs of their modules.
    return sorted(made, key=lambda one: -sum(os.path.getsize(path) for path in one.sources))


# How mypyc frees an `acyclic` object, which the garbage collector does not track.
UNTRACKED = re.compile(
    r"(\n *\w+_dealloc\(\w+ \*self\)\n *\{\n)"
    r" *CPy_TRASHCAN_BEGIN\(self, \w+\)\n"
    r"((?: *(?!CPy_TRASHCAN)\S.*\n)*)"
    r" *CPy_TRASHCAN_END\(self\)\n"
)


def without_trashcans(text: str) -> str:
    """Free untracked objects at once, however deep in others they are.

    An object that is freed within 50 others is kept for later, linked by a field of the garbage
    collector in front of it. Untracked ones have none, so that this would overwrite whatever is
    there (mypyc 2.4).
    """
    changed = UNTRACKED.sub(r"\1\2", text)
    for body in re.findall(r"_dealloc\(\w+ \*self\)\n *\{\n(.*?)\n *\}\n", changed, re.DOTALL):
        if "CPy_TRASHCAN_BEGIN" in body and "PyObject_GC_UnTrack" not in body:
            sys.exit(f"zenlake: mypyc writes a deallocator that setup.py does not know:\n{body}")
    return changed


def main() -> None:
    mode = os.environ.get("ZENLAKE_COMPILE") or "auto"
    if mode not in ("auto", "0", "1"):
        sys.exit(f"zenlake: ZENLAKE_COMPILE is auto, 0 or 1, not {mode!r}")
    # An editable install runs the sources: binaries beside them would go stale.
    if mode == "1" and "editable_wheel" in sys.argv:
        sys.exit("zenlake: an editable install is never compiled; unset ZENLAKE_COMPILE")
    # Asking for metadata or an sdist must not cost a compilation.
    builds = not {"bdist_wheel", "build", "build_ext"}.isdisjoint(sys.argv)
    if not builds or mode == "0":
        setup()
    elif mode == "1":
        setup(ext_modules=extensions(), options={"build_ext": {"parallel": os.cpu_count()}})
    elif not can_compile():
        print("zenlake: no C compiler or no Python headers found, installing uncompiled")
        setup()
    else:
        try:
            setup(ext_modules=extensions(), options={"build_ext": {"parallel": os.cpu_count()}})
        except (Exception, SystemExit) as error:
            print(error, "zenlake: WARNING: compilation failed, installing uncompiled", sep="\n")
            setup()


main()
