internal import TomboloModel

extension TickDifference {
    /// The approximate size of the difference in memory, in bytes.
    public var byteCount: Int { changes.reduce(0) { $0 + $1.byteCount } }
}

extension RootChange {
    fileprivate var byteCount: Int {
        let lists = elements.values.joined().reduce(0) { $0 + $1.byteCount }
        let changed = changedElements.values.joined().reduce(0) { $0 + $1.byteCount }
        return 128 + (old?.byteCount ?? 0) + (new?.byteCount ?? 0) + lists + changed
    }
}
