extension Realm {
    /// Whether the Realm permanently shows one version.
    public var isFrozen: Bool { core.isFrozen }

    /// A Realm that permanently shows the current version, on any thread. It can't be written to, refreshed or
    /// observed. If others have committed since the last refresh, this Realm refreshes first. Stops the program in a
    /// write transaction.
    public func freeze() -> Realm { Realm(core: core.frozen()) }

    /// Same as ``ThreadConfined/freeze()`` of the object or collection.
    public func freeze<Confined: ThreadConfined>(_ confined: Confined) -> Confined { confined.freeze() }

    /// Same as ``ThreadConfined/thaw()`` of the object or collection.
    public func thaw<Confined: ThreadConfined>(_ confined: Confined) -> Confined? { confined.thaw() }

    /// A live Realm with the same configuration on the calling thread.
    public func thaw() -> Realm {
        guard isFrozen else { return self }
        do {
            return try Realm(configuration: configuration)
        } catch {
            programError("The Realm cannot be thawed. \(error)")
        }
    }
}
