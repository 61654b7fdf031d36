public import TomboloModel

/// The target of an operation. For list elements, give the rows of the object that has the list, with its class or with
/// the element's class: an element is decided like its object.
public enum Resource: Hashable, Sendable {
    /// All objects of the class that the rules permit; the decision's filter says which. With `having`, values by
    /// column position, the filter covers only objects with those values. It is false if none of those are permitted.
    case objects(classIndex: Int, having: [Int: Value] = [:])
    /// One object: its row before and after the operation, as far as it exists.
    case object(classIndex: Int, old: Row?, new: Row?)

    var classIndex: Int {
        switch self {
        case .objects(let index, _), .object(let index, _, _): index
        }
    }
}
