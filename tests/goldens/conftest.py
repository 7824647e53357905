"""Runs the goldens of this folder from a bare checkout too, where no entry point has loaded the plugin."""

import falsify_pytest


def pytest_configure(config):
    if not config.pluginmanager.is_registered(falsify_pytest):
        config.pluginmanager.register(falsify_pytest, "falsify")
