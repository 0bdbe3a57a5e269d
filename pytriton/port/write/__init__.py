"""Plans -> text: the stand-alone module, its launcher, and its tests."""
