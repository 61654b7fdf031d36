internal import Foundation
public import TomboloModel

/// Access to properties by name, as in key-value coding.
extension RealmCollection {
    /// A property of every element; `"self"` for the elements themselves.
    public func value(forKey key: String) -> [Any?] { values(forKeyPath: key) }

    /// A property of every element: `"name"` or `"room.name"`. After `"@distinctUnionOfObjects."`, duplicates are left
    /// out. `"@count"` and `"@sum.price"`, likewise `@min`, `@max` and `@avg`, compute one number from all elements.
    public func value(forKeyPath keyPath: String) -> Any? {
        let names = keyPath.split(separator: ".", maxSplits: 1).map(String.init)
        guard let function = names.first, function.hasPrefix("@") else { return values(forKeyPath: keyPath) }
        let rest = names.count > 1 ? names[1] : "self"
        switch function {
        case "@count": return count
        case "@unionOfObjects": return values(forKeyPath: rest)
        case "@distinctUnionOfObjects":
            // Strings are equal if their bytes are, as in `distinct(by:)`.
            var seen: Set<AnyHashable> = []
            return values(forKeyPath: rest).filter { value in
                let key = (value as? String).map { AnyHashable(Value.string($0)) } ?? value as? AnyHashable
                return key.map { seen.insert($0).inserted } ?? false
            }
        default: break
        }
        guard let aggregate = FilterOperand.Aggregate(rawValue: String(function.dropFirst())) else {
            programError("Unknown function \(function). Available: @count, @min, @max, @sum, @avg.")
        }
        return computed(aggregate, rest)
    }

    private func values(forKeyPath keyPath: String) -> [Any?] {
        keyPath.lowercased() == "self" ? map { $0 as Any? } : map { ($0 as? ObjectBase)?.value(forKeyPath: keyPath) }
    }

    private func computed(_ function: FilterOperand.Aggregate, _ property: String) -> Any? {
        switch aggregate(function, property) as Value {
        case .int(let number): Int(number)
        case .double(let number): number
        case .decimal(let number): number
        case .date(let microseconds): Date(microsecondsSince1970: microseconds)
        default: nil
        }
    }
}

extension RealmCollection where Element: ObjectBase {
    /// Sets a property of every element. Call this in a write transaction.
    public func setValue(_ value: Any?, forKey key: String) {
        // Setting the property may change which elements the collection has.
        for element in Array(self) { element[key] = value }
    }
}
