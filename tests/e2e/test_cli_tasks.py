"""`acud task` and `acud usage` in processes of their own."""

from __future__ import annotations

from pathlib import Path

from acud_cli.exit_codes import Exit
from tests.e2e import faults
from tests.e2e.cli_support import CommandLine
from tests.fixtures.daemon import Daemon


def test_a_task_from_a_shell(tmp_path: Path) -> None:
    with Daemon(settings=faults.settings()) as daemon:
        acud = CommandLine(daemon.home)
        made = acud.json(
            "task",
            "register",
            "Book\x1b[2J",
            "open",
            "pay",
            "--size",
            "320x240",
            "--metadata",
            '{"a": 1}',
            "--max-cost",
            "0.5",
        )
        task = made["view"]["task"]["task_id"]
        assert made["view"]["task"]["metadata"]["display_resolution"] == "320x240"
        assert "\x1b" not in acud.run("task", "list")
        assert "item 1" in acud.run(
            "task", "log", task, "cli", "ls -l", "--output", "text", "--item", "1", "--took", "2s"
        )
        assert "active" in acud.run("task", "item", task, "1", "active", "--note", "begun")
        acud.run("task", "append", task, "third")
        acud.run("task", "say", task, "hello")
        funded = acud.json("task", "budget", task, "--max-evaluations", "5")
        assert funded["view"]["task"]["budget"] == {"max_cost_usd": 0.5, "max_evaluations": 5, "on_budget": "local"}
        paid = acud.json(
            "wait", "--window", "lamp", "--task", task, "--detach", "--max-cost", ".01", "--on-budget", "fail"
        )
        assert paid["wait"]["spec"]["budget"] == {"max_cost_usd": 0.01, "max_evaluations": None, "on_budget": "fail"}
        more = acud.json("waits", "update", paid["wait"]["wait_id"], "--max-evaluations", "7")
        assert more["wait"]["spec"]["budget"] == {"max_cost_usd": 0.01, "max_evaluations": 7, "on_budget": "fail"}
        assert "$0.01" in acud.run("waits", "show", paid["wait"]["wait_id"])
        acud.run("look", "--task", task, "-o", str(tmp_path / "a.png"))
        wait = acud.json("wait", "--window", "Checkout", "--task", task, "--detach")
        assert wait["wait"]["display"] == made["view"]["task"]["display"]
        assert "ls -l" in acud.run("task", "drill", task, "1")
        assert ">1 [active] open (4 actions)\n 2 [pending] pay (0 actions)" in acud.run("task", "show", task)
        assert "hello" in acud.run("task", "thread", task)
        shown = acud.json("task", "show", task, "--detail", "full", "--max-tokens", "100")
        assert shown["tokens"] <= 100
        assert shown["left_out"]
        assert "paused" in acud.run("task", "status", task[:-2], "paused")
        assert "completed" in acud.run("task", "status", task, "completed", "--message", "done")
        acud.run("task", "status", task, "active", code=Exit.REFUSED)
        assert acud.run("task", "list") == "no tasks\n"
        assert task in acud.run("task", "list", "--all")
        assert acud.json("usage")["evaluations"] == 0
        assert acud.run("task", "delete", task).startswith(f"deleted {task}")
        acud.run("task", "show", task, code=Exit.NOT_FOUND)
        acud.run("task", "show", "../../etc", code=Exit.NOT_FOUND)
