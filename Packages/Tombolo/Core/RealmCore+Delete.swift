internal import TomboloChangesets
internal import TomboloModel

extension RealmCore {
    func delete(_ object: Object) {
        requireWrite()
        guard let row = object.accessor as? ManagedRow, row.core === self else {
            programError("Can only delete an object from the Realm it belongs to.")
        }
        guard row.isValid else {
            programError("Can only delete an object once: this \(row.schema.name) is deleted or invalidated.")
        }
        erase(row)
    }

    private func erase(_ row: ManagedRow) {
        record(.erase(row.reference))
        forget(row)
    }

    func deleteAll() {
        requireWrite()
        for (classIndex, item) in schema.classes.enumerated() where item.owner == nil {
            for key in keys(ObjectQuery(classIndex: classIndex)) {
                erase(row(ObjectReference(classIndex: classIndex, key: key)))
            }
        }
    }
}
