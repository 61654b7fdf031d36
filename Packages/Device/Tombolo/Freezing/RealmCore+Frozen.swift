internal import TomboloSQLiteStore

extension RealmCore {
    /// A separate core on the newest version, to which this one moves too. Reused as long as something frozen is kept.
    func frozen() -> RealmCore {
        confinement.check()
        if isFrozen { return self }
        if isInWrite { programError("Cannot freeze a Realm in a write transaction: freeze it after the commit.") }
        if let known = lastFrozen, known.stamp == changeStamp, let core = known.core { return core }
        let core = reading { try frozenCopy() }
        if core.file.log.number != file.log.number { _ = refresh() }
        lastFrozen = FrozenCore(core: core, stamp: changeStamp)
        return core
    }
}

/// The last frozen core, as long as somebody keeps it.
struct FrozenCore {
    weak var core: RealmCore?
    /// The version stamp of the live core at that time.
    let stamp: UInt64
}
