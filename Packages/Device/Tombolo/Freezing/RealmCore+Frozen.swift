internal import TomboloSQLiteStore

extension RealmCore {
    /// A core of its own on the newest version, to which this one moves too: for as long as something frozen is kept.
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

/// The frozen core made last, for as long as somebody keeps it.
struct FrozenCore {
    weak var core: RealmCore?
    /// What the live one showed.
    let stamp: UInt64
}
