public import TomboloModel

/// What an operation is about. For list elements give the class and the rows of the object that has the list, or the
/// element's class with those rows: an element is decided like its object.
public enum Resource: Hashable, Sendable {
    /// Whichever objects of the class the rules permit: the decision's filter says which. With `having`, values by column
    /// position, the filter covers only objects with those values; it is false if none of those are permitted.
    case objects(classIndex: Int, having: [Int: Value] = [:])
    /// One object: its row before and after the operation, as far as there is one.
    case object(classIndex: Int, old: Row?, new: Row?)

    var classIndex: Int {
        switch self {
        case .objects(let index, _), .object(let index, _, _): index
        }
    }
}
