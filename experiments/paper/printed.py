"""The tables that the paper prints for JAHS-Bench-201: ratios in percent, by parameter.

Columns: f-ANOVA of f, PED 0.1, f-ANOVA of min(f, f^0.1), PED 0.01, f-ANOVA of min(f, f^0.01), PED 0.01 in 0.1. PED is
that of all 41,343,750 configurations against a uniform draw, f-ANOVA the mean of 10 runs on 10⁴ of them (Optuna).
"""

COLUMNS = (
    "f-ANOVA of f",
    "PED 0.1",
    "f-ANOVA clipped at 0.1",
    "PED 0.01",
    "f-ANOVA clipped at 0.01",
    "PED 0.01 in 0.1",
)
PRINTED = {
    "cifar10": {
        "LearningRate": [1.36, 9.11, 10.2, 6.62, 3.59, 4.09],  # Learning rate
        "WeightDecay": [0.96, 2.19, 0.68, 2.56, 0.31, 3.0],  # Weight decay
        "Activation": [0.01, 0.12, 0.21, 0.26, 0.41, 0.4],  # Activation function
        "TrivialAugment": [0.0, 4.33, 3.83, 13.22, 8.27, 28.33],  # TrivialAugment
        "N": [0.06, 0.66, 0.58, 2.47, 0.63, 6.9],  # Depth multiplier
        "W": [1.6, 60.22, 73.59, 35.26, 71.75, 9.07],  # Width multiplier
        "Op1": [11.86, 6.65, 3.45, 11.95, 3.81, 13.38],  # Operation 1
        "Op2": [4.04, 2.36, 1.42, 5.0, 2.51, 6.97],  # Operation 2
        "Op3": [64.73, 5.63, 1.14, 5.25, 1.73, 5.5],  # Operation 3
        "Op4": [0.09, 0.84, 0.83, 1.62, 1.09, 2.09],  # Operation 4
        "Op5": [4.0, 2.19, 1.04, 4.72, 1.29, 6.76],  # Operation 5
        "Op6": [11.29, 5.71, 3.02, 11.06, 4.61, 13.52],  # Operation 6
    },
    "fashion_mnist": {
        "LearningRate": [5.66, 12.39, 10.04, 11.81, 15.12, 13.3],  # Learning rate
        "WeightDecay": [6.81, 6.6, 10.37, 4.76, 15.55, 3.15],  # Weight decay
        "Activation": [0.76, 0.34, 0.14, 1.19, 0.15, 2.66],  # Activation function
        "TrivialAugment": [0.05, 1.59, 0.03, 9.87, 0.06, 26.73],  # TrivialAugment
        "N": [0.05, 1.33, 0.07, 0.47, 0.16, 0.01],  # Depth multiplier
        "W": [0.81, 40.65, 3.84, 38.67, 7.1, 29.98],  # Width multiplier
        "Op1": [15.85, 11.54, 13.6, 14.52, 10.59, 11.5],  # Operation 1
        "Op2": [1.62, 3.93, 1.56, 6.54, 1.73, 7.43],  # Operation 2
        "Op3": [42.41, 10.34, 35.74, 4.61, 26.48, 0.72],  # Operation 3
        "Op4": [0.36, 1.68, 0.21, 2.26, 0.31, 3.07],  # Operation 4
        "Op5": [3.11, 0.91, 1.97, 0.42, 1.29, 0.12],  # Operation 5
        "Op6": [22.51, 8.69, 22.41, 4.88, 21.46, 1.32],  # Operation 6
    },
    "colorectal_histology": {
        "LearningRate": [1.64, 16.31, 33.66, 15.38, 31.92, 14.14],  # Learning rate
        "WeightDecay": [0.68, 2.96, 5.07, 2.42, 3.72, 1.58],  # Weight decay
        "Activation": [0.01, 0.08, 0.08, 0.2, 0.09, 0.44],  # Activation function
        "TrivialAugment": [0.11, 19.7, 8.63, 20.09, 11.5, 23.24],  # TrivialAugment
        "N": [0.09, 2.05, 1.88, 4.09, 1.65, 7.47],  # Depth multiplier
        "W": [0.73, 45.33, 36.04, 39.72, 40.46, 29.58],  # Width multiplier
        "Op1": [11.33, 3.25, 2.24, 3.96, 1.66, 4.54],  # Operation 1
        "Op2": [4.85, 1.36, 0.9, 1.96, 0.75, 2.44],  # Operation 2
        "Op3": [64.26, 5.16, 8.85, 6.6, 6.03, 7.92],  # Operation 3
        "Op4": [0.12, 0.47, 0.25, 0.39, 0.3, 0.3],  # Operation 4
        "Op5": [4.72, 0.72, 0.57, 1.41, 0.55, 2.78],  # Operation 5
        "Op6": [11.47, 2.61, 1.82, 3.78, 1.36, 5.57],  # Operation 6
    },
}
