import Foundation

/// Writes to standard error what somebody else has to do: it is no failure, and no part of the output.
public enum Advice {
    public static func print(_ advice: [String]) {
        for text in advice { FileHandle.standardError.write(Data("\(text)\n".utf8)) }
    }
}
