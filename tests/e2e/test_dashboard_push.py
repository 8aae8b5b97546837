"""The button "Notify me here" in a real Chromium, with a PushManager put in place: no push service is in reach."""

from __future__ import annotations

import json

from playwright.sync_api import Browser, expect

from acud.protocol.web import Scope
from acud.types.tasks import TaskStatus
from tests.e2e.dashboard_support import SETTINGS, Visitor
from tests.e2e.desktop import until
from tests.e2e.gateway_support import served
from tests.fixtures.daemon import Daemon
from tests.fixtures.push_service import PushService

STUB = """
const target = TARGET;
PushManager.prototype.subscribe = async function (options) {
  window.asked = options;
  return { toJSON: () => ({ endpoint: target.endpoint, keys: { p256dh: target.p256dh, auth: target.auth } }) };
};
"""


def test_the_button_asks_subscribes_and_ends_or_says_that_the_browser_denies_it(browser: Browser) -> None:
    with PushService() as service:
        on = f'[notify]\npush = true\npush_services = ["{service.origin}"]\n'
        with Daemon(settings=SETTINGS + on) as daemon:
            visitor = Visitor(browser, served(daemon))
            visitor.context.grant_permissions(["notifications"], origin=visitor.url)
            visitor.context.add_init_script(STUB.replace("TARGET", json.dumps(service.target("desk"))))
            visitor.login(daemon.client, Scope.READ)
            visitor.go("health")
            visitor.page.get_by_role("button", name="Notify me here").click()
            expect(visitor.page.get_by_role("button", name="Notify me here no longer")).to_be_visible()
            visitor.check("push-on")
            asked = visitor.page.evaluate("window.asked")
            assert asked == {"userVisibleOnly": True, "applicationServerKey": daemon.client.push_list().public_key}
            (kept,) = daemon.client.push_list().subscriptions
            assert kept.service == "127.0.0.1"
            task = daemon.client.task_register("Export", isolated_display=False).view.task
            daemon.client.task_update(task.task_id, status=TaskStatus.FAILED)
            until(lambda: service.got, "the push")
            visitor.page.get_by_role("button", name="Notify me here no longer").click()
            expect(visitor.page.get_by_role("button", name="Notify me here", exact=True)).to_be_visible()
            assert daemon.client.push_list().subscriptions == ()
            visitor.close()
            denied = Visitor(browser, served(daemon))
            denied.context.add_init_script("Object.defineProperty(Notification, 'permission', { get: () => 'denied' })")
            denied.login(daemon.client)
            denied.go("health")
            expect(denied.page.get_by_text("Denied: this browser")).to_be_visible()
            denied.close()
