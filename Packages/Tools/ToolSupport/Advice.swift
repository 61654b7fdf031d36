import Foundation

/// Writes to standard error what somebody else has to do. This is neither a failure nor part of the output.
public enum Advice {
    public static func print(_ advice: [String]) {
        for text in advice { FileHandle.standardError.write(Data("\(text)\n".utf8)) }
    }
}
