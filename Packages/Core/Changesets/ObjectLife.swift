internal import TomboloModel

/// An object's existence within one changeset, without a gap: from before the changeset, or from its creation, to its
/// erasure or the changeset's end. An object that is erased and made again has several, each a matter of permission.
struct ObjectLife {
    /// The row before the changeset; nil where the changeset made the object.
    let old: Row?
    /// The row in the trash that the creation took over.
    let replaced: Row?
    /// The row when the object was erased, or at the changeset's end.
    var last: Row
    private(set) var isErased = false

    init(old: Row?, replaced: Row?, last: Row) {
        self.old = old
        self.replaced = replaced
        self.last = last
    }

    mutating func end(_ row: Row) {
        last = row
        isErased = true
    }

    /// What has to be permitted, for an object of its own.
    func requests(_ classIndex: Int, isTrashable: Bool) -> [WriteRequest] {
        func request(_ operation: WriteRequest.Operation, _ old: Row?, _ new: Row?) -> WriteRequest {
            WriteRequest(operation: operation, classIndex: classIndex, old: old, new: new)
        }
        guard let old else {
            return [request(.create, nil, last)] + (replaced.map { [request(.update, $0, last)] } ?? [])
        }
        guard isErased else { return [request(.update, old, last)] }
        // What is edited and erased goes into the trash as edited.
        return [request(.delete, old, nil)] + (isTrashable && last != old ? [request(.update, old, last)] : [])
    }
}
