/// How long a server waits for what it gives up otherwise, or answers without.
package enum Patience {
    /// So many times as long as usual. Tests raise it, so that answers don't depend on how busy the machine is.
    @TaskLocal package static var factor = 1
}

extension Duration {
    /// As long as ``Patience`` says.
    package var patient: Duration { self * Patience.factor }
}
