import TomboloModel

/// The model's limits on values beyond their types. They don't affect existing values that nobody writes.
extension ResourceChange {
    /// Whether a value of a place is a possible latitude or longitude.
    mutating func isOnEarth(
        _ value: Value, _ coordinate: Column.Coordinate?, at pointer: RequestPointer
    ) -> Bool {
        guard let coordinate, case .double(let degrees) = value, !coordinate.bounds.contains(degrees) else {
            return true
        }
        let (least, most) = (Int(coordinate.bounds.lowerBound), Int(coordinate.bounds.upperBound))
        let problem =
            switch coordinate {
            case .latitude: Wording("A latitude can't be \(degrees) degrees.")
            case .longitude: Wording("A longitude can't be \(degrees) degrees.")
            }
        refuse(pointer, problem, Wording("Send a number from \(least) to \(most)."))
        return false
    }

    /// Whether a value is one that the property can have.
    mutating func isAllowed(_ value: Value, _ allowed: AllowedValues?, at pointer: RequestPointer) -> Bool {
        guard let allowed, !value.isNull, !allowed.contains(value) else { return true }
        let shown = allowed.values.prefix(Self.shownValueCount).map { ValueText.text($0) ?? "" }
        let list = shown.joined(separator: ", ") + (allowed.values.count > shown.count ? ", …" : "")
        refuse(
            pointer, Wording("\(value) isn't an allowed value."),
            Wording("Send one of: \(list)."))
        return false
    }

    /// The most allowed values that a message lists.
    private static let shownValueCount = 20
}
