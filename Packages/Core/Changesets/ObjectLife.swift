internal import TomboloModel

/// One uninterrupted existence of an object within a changeset: from before the changeset or its creation, up to its
/// erasure or the changeset's end. An object that's erased and created again has several, and each needs permission.
struct ObjectLife {
    /// The row before the changeset, or nil if the changeset created the object.
    let old: Row?
    /// The row in the trash that the creation took over.
    let replaced: Row?
    /// Whether that row was in the trash before the changeset: taking it out is a restore.
    let isRestored: Bool
    /// The position of the instruction that created the object; nil if it was there before.
    let creation: Int?
    /// The row when the object was erased, or at the end of the changeset.
    var last: Row
    private(set) var isErased = false

    /// Why a life may not be.
    enum Obstacle {
        case denied(WriteDenial)
        /// Its key, which the instruction at a position gave it, is that of an object in the trash that the user may not
        /// restore. To them it's a key that is taken, as that of an object that they may not read: no answer says what is in
        /// the trash.
        case takenKey(position: Int)
    }

    init(old: Row?, replaced: Row?, isRestored: Bool = false, creation: Int? = nil, last: Row) {
        self.old = old
        self.replaced = replaced
        self.isRestored = isRestored
        self.creation = creation
        self.last = last
    }

    mutating func end(_ row: Row) {
        last = row
        isErased = true
    }

    /// Asks for the permissions needed, for an object that isn't a list element.
    /// - Parameter written: the columns of existing rows that the changeset writes.
    /// - Returns: why one of them is denied, or nil.
    func obstacle(
        _ classIndex: Int, isTrashable: Bool, written: Set<Int>, _ permit: (WriteRequest) -> WriteDenial?
    ) -> Obstacle? {
        func ask(_ operation: WriteRequest.Operation, _ old: Row?, _ new: Row?) -> Obstacle? {
            permit(
                WriteRequest(
                    operation: operation, classIndex: classIndex, old: old, new: new,
                    written: operation == .update ? written : [])
            ).map { .denied($0) }
        }
        guard let old else {
            if let denial = ask(.create, nil, last) { return denial }
            guard let replaced else { return nil }
            if isRestored, let denial = ask(.restore, replaced, last) {
                return creation.map { .takenKey(position: $0) } ?? denial
            }
            // Nothing of the row in the trash is left.
            return permit(
                WriteRequest(
                    operation: .update, classIndex: classIndex, old: replaced, new: last,
                    written: Set(last.values.indices))
            ).map { .denied($0) }
        }
        guard isErased else { return ask(.update, old, last) }
        if let denial = ask(.delete, old, nil) { return denial }
        // An object edited and then erased goes into the trash as edited.
        let isEdited = last != old || !written.isEmpty
        return isTrashable && isEdited ? ask(.update, old, last) : nil
    }
}
