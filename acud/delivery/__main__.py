"""`python -m acud.delivery`: wires the delivery process from its bootstrap and serves until `Stop`."""

from __future__ import annotations

import asyncio
import os
from contextlib import AsyncExitStack

from acud.base.errors import ProtocolError, Unavailable
from acud.base.extras import install_command, is_installed
from acud.delivery.routes import make_routes
from acud.delivery.service import DeliveryService, SendPush, ShowNotification
from acud.process import child_process
from acud.process.async_child import AsyncChild
from acud.protocol.bootstrap import Bootstrap, DeliveryOptions
from acud.protocol.delivery import Notified, Notify, Push, Pushed, ToDelivery


def main(bootstrap: Bootstrap) -> None:
    """Serve by `bootstrap`. Raises: ProtocolError when it is meant for another kind of child."""
    if not isinstance(bootstrap.options, DeliveryOptions):
        raise ProtocolError("the bootstrap of a delivery process holds options of another child")
    asyncio.run(_run_service(bootstrap, bootstrap.options))


async def _run_service(bootstrap: Bootstrap, options: DeliveryOptions) -> None:
    async with AsyncExitStack() as stack:
        child: AsyncChild[ToDelivery] = await stack.enter_async_context(AsyncChild(bootstrap, ToDelivery))
        made = make_routes(options, os.environ)
        for route in made.values():
            stack.push_async_callback(route.close)
        await DeliveryService(child, made, _make_notifier(options), _make_push_sender(options)).run()


def _make_notifier(options: DeliveryOptions) -> ShowNotification:
    """Return the function that shows notifications. D-Bus is loaded only if they are enabled."""
    if not options.notify.enabled:
        return _refuse_notification
    if not is_installed("push"):
        return _refuse_uninstalled
    from acud.delivery.desktop_notifications import DesktopNotifier

    desktop = DesktopNotifier(options.notify, os.environ)

    async def show(notice: Notify) -> Notified:
        try:
            return Notified(notice.number, await desktop.show(notice.title, notice.body, urgent=notice.urgent))
        except Unavailable as fault:
            return Notified(notice.number, fault=fault.message, hint=fault.hint)

    return show


def _make_push_sender(options: DeliveryOptions) -> SendPush:
    """Return the function that sends pushes. Encryption is loaded only if there is a key."""
    if not options.push_key:
        return _refuse_push
    from acud.delivery.web_push import PushSender

    return PushSender(options.notify, options.push_key).send


async def _refuse_push(push: Push) -> Pushed:
    return Pushed(push.number, "refused", "there is no key to sign it with")


async def _refuse_notification(notice: Notify) -> Notified:
    return Notified(notice.number, fault="notifications are off", hint="set [notify] enabled = true")


async def _refuse_uninstalled(notice: Notify) -> Notified:
    return Notified(notice.number, fault="acud[push] is not installed", hint=install_command("push"))


if __name__ == "__main__":
    child_process.run(main)
