package cli_test

func panicsOnSignal(string) {}

func noisyOnSignal() {}
