package frontier

// What a command that fills the store (see [Options]) had better keep to. Most of its memory are blocks without pointers, so that collecting
// garbage often costs little; the two together keep an import of ten million digests within 512 MiB.
const (
	FillingGarbage = 20        // percent of what is in use that may gather as garbage, see [runtime/debug.SetGCPercent]
	FillingMapped  = 100 << 20 // bytes of mapped files, for [Frontier.Relieve]
)
