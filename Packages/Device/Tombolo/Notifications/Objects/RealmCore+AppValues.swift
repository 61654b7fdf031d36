internal import TomboloModel

extension RealmCore {
    /// Converts a stored value to what reading the property by name returns. A key becomes the object it leads to.
    func appValue(_ value: Value, _ column: Int, _ classIndex: Int, _ property: ObjectProperty) -> Any? {
        if value.isNull { return nil }
        if let target = linkTarget(of: classIndex, column) {
            return find(ObjectReference(classIndex: target, key: value))?.managedObject()
        }
        return property.valueType._from(value)._namedValue
    }
}
