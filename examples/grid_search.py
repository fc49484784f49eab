"""Choose parameters by cross-validation with scikit-learn: learners are estimators like any other.

pip install 'tagwright[sklearn]'
python examples/grid_search.py
"""

from __future__ import annotations

from sklearn.model_selection import GridSearchCV

from tagwright import CRF, datasets

X, y = datasets.sample()
search = GridSearchCV(
    CRF(tolerance=1e-2),
    {"c2": [0.1, 1.0], "features": ["s1", "s2"]},
    cv=3,
)
search.fit(X[:240], y[:240])

for params, mean in zip(search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True):
    print(f"{100 * mean:.2f} %  {params}")
print(f"best: {search.best_params_}")
