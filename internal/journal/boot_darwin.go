package journal

import "syscall"

// bootID names the present start of the machine, "" if the system does not tell.
func bootID() string {
	id, err := syscall.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return ""
	}
	return id
}
