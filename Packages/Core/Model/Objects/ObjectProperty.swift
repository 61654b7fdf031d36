/// One `@Persisted` property of a class.
package struct ObjectProperty: Sendable {
    package enum Slot: Hashable, Sendable {
        /// A scalar or a link.
        case column(Int)
        /// An embedded object: its presence column, which the columns of its properties follow.
        case embedded(Int)
        /// A list with a child table.
        case list(Int)
        /// A list in one column.
        case array(Int)
        /// The objects that link here through a property of the named class.
        case linkingObjects(origin: String, property: String)
    }

    package let name: String
    /// The offset in bytes of the property wrapper in an instance.
    package let offset: Int
    package let wrapper: any AnyPersisted.Type
    package let slot: Slot
    package let place: PropertyPlace

    /// - Parameter position: the position among the class's properties.
    package init(name: String, offset: Int, wrapper: any AnyPersisted.Type, slot: Slot, position: Int) {
        self.name = name
        self.offset = offset
        self.wrapper = wrapper
        self.slot = slot
        let asked =
            switch slot {
            case .column(let column), .embedded(let column): column
            case .list, .array, .linkingObjects: position
            }
        place = PropertyPlace(offset: offset, wrapper: wrapper, position: asked)
    }

    /// Whether the property isn't stored, like ``LinkingObjects``.
    package var isComputed: Bool { if case .linkingObjects = slot { true } else { false } }

    /// The type of the property's values.
    package var valueType: any Persistable.Type { wrapper.valueType }

    /// The value in an unmanaged object, and whether it's a default.
    package func unmanagedValue(of object: ObjectBase) -> (value: any Persistable, isDefault: Bool) {
        func read<Wrapper: AnyPersisted>(_: Wrapper.Type) -> (any Persistable, Bool) {
            object.withField(at: offset, Wrapper.self) { $0.unmanagedValue() }
        }
        return read(wrapper)
    }

    /// Whether a new unmanaged object gets a value from its class's declaration.
    package func hasValue(in object: ObjectBase) -> Bool {
        func read<Wrapper: AnyPersisted>(_: Wrapper.Type) -> Bool {
            object.withField(at: offset, Wrapper.self) { $0.hasValue }
        }
        return read(wrapper)
    }

    /// Sets the value in an unmanaged object.
    /// - Returns: false if the property's type can't represent the value.
    package func setUnmanaged(_ stored: Stored, of object: ObjectBase) -> Bool {
        func set<Wrapper: AnyPersisted>(_: Wrapper.Type) -> Bool {
            object.withField(at: offset, Wrapper.self) { $0.setUnmanaged(stored) }
        }
        return set(wrapper)
    }
}

extension ObjectBase {
    /// The value of a property of a managed or unmanaged object.
    package final func held(_ property: ObjectProperty) -> any Persistable {
        guard let accessor else { return property.unmanagedValue(of: self).value }
        switch property.slot {
        case .column(let position), .embedded(let position): return property.valueType._read(accessor, position)
        case .list, .array, .linkingObjects:
            let position = ObjectClass.of(type(of: self)).position(ofProperty: property.name) ?? 0
            return property.valueType._read(accessor, position)
        }
    }

    /// Makes the object managed: from now on, its properties read and write through the accessor. For stores only.
    package final func attach(_ accessor: any ObjectAccessor, _ layout: ObjectClass) {
        self.accessor = accessor
        withExtendedLifetime(self) {
            let start = Unmanaged.passUnretained(self).toOpaque()
            layout.places.withUnsafeBufferPointer { places in
                for place in places { place.attach(start) }
            }
        }
    }

    /// The stored form of a scalar in an unmanaged object, and whether it's a default.
    /// - Parameter place: a location in the object's own class.
    package final func scalar(at place: PropertyPlace) -> (value: Value, isDefault: Bool) {
        withExtendedLifetime(self) { place.scalar(of: Unmanaged.passUnretained(self).toOpaque()) }
    }

    package final func withField<Field, Result>(
        at offset: Int, _: Field.Type, _ body: (inout Field) -> Result
    ) -> Result {
        withExtendedLifetime(self) {
            let start = Unmanaged.passUnretained(self).toOpaque() + offset
            return body(&start.assumingMemoryBound(to: Field.self).pointee)
        }
    }
}
