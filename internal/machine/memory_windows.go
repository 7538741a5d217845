package machine

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// Memory returns the memory of the machine in bytes, 0 if it is not known.
func Memory() int64 {
	var kilobytes uint64
	installed := windows.NewLazySystemDLL("kernel32.dll").NewProc("GetPhysicallyInstalledSystemMemory")
	if installed.Find() != nil {
		return 0
	}
	if ok, _, _ := installed.Call(uintptr(unsafe.Pointer(&kilobytes))); ok == 0 {
		return 0
	}
	return int64(kilobytes) << 10 //nolint:gosec // below 8 EB
}
