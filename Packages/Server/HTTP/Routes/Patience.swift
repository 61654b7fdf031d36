/// Scales how long a server waits before it gives something up, or answers without it.
package enum Patience {
    /// Multiplies the usual wait. Tests raise it, so that answers don't depend on how busy the machine is.
    @TaskLocal package static var factor = 1
}

extension Duration {
    /// The duration times ``Patience/factor``.
    package var patient: Duration { self * Patience.factor }
}
