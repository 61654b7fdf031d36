internal import TomboloModel

extension RealmCore {
    /// A stored value as the property has it: text as the enum, a key as the object that it leads to.
    func appValue(_ value: Value, _ column: Int, _ classIndex: Int, _ property: ObjectProperty) -> Any? {
        if value.isNull { return nil }
        if let target = linkTarget(of: classIndex, column) {
            return find(ObjectReference(classIndex: target, key: value))?.managedObject()
        }
        let held = property.valueType._from(value)
        return (held as? any OptionalValue)?.unwrapped ?? held
    }
}
