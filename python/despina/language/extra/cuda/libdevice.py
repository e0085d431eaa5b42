"""`triton.language.extra.cuda.libdevice`: the device's mathematics library."""

from ..._builtins import functions_of as _functions_of

globals().update(_functions_of("language.extra.libdevice"))
