package claude

import "os"

var wakeSignal = os.Interrupt
