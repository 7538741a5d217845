package child

import (
	"fmt"
	"os"
	"strings"
)

// started is when a process was started: the boot and the tick of its clock. It is
// "" of one that has ended.
func started(pid int) string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	// The name of the program stands in brackets and may hold anything.
	_, rest, _ := strings.Cut(string(stat[strings.LastIndexByte(string(stat), ')')+1:]), " ")
	const state, tick = 0, 19 // fields behind the name
	fields := strings.Fields(rest)
	if len(fields) <= tick || fields[state] == "Z" || fields[state] == "X" {
		return ""
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(boot)) + "/" + fields[tick]
}
