"""Runs the goldens of this folder from a bare checkout too, where no entry point has loaded the plugin."""

from replay import pytest_plugin


def pytest_configure(config):
    if not config.pluginmanager.is_registered(pytest_plugin):
        config.pluginmanager.register(pytest_plugin, "falsify")
